// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// What perp's modules import beside WASI: calls that can be left at once, as longjmp leaves them (src/qhull_try.c), and a
// clock (src/clock.c).

class Leave {
  /** @param {number} value */
  constructor(value) {
    this.value = value;
  }
}

/** The imports, and a function that connects them to the instance they are for. */
export function host() {
  /** @type {any} */
  let exports = null;
  return {
    imports: {
      call(task, arg) {
        const stack = exports.__stack_pointer.value;
        try {
          exports.__indirect_function_table.get(task)(arg);
          return 0;
        } catch (e) {
          if (!(e instanceof Leave)) throw e;
          exports.__stack_pointer.value = stack;
          return e.value;
        }
      },
      leave(value) {
        throw new Leave(value);
      },
      seconds: () => 1e-3 * performance.now(),
    },
    connect(instance) {
      exports = instance.exports;
    },
  };
}
