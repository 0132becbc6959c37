// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// WASI (preview 1) with files in memory, as much of it as perp calls, for browsers and Workers. One folder, "/", is open
// from the beginning. What is written to stdout and stderr is handed to a function.

const OK = 0;
const BADF = 8;
const EXIST = 20;
const INVAL = 28;
const ISDIR = 31;
const NOENT = 44;
const NOTDIR = 54;
const NOTEMPTY = 55;
const NOSYS = 52;
const CREAT = 1;
const DIRECTORY = 2;
const EXCL = 4;
const TRUNC = 8;
const APPEND = 1;
const FOLDER = 3;
const REGULAR = 4;

class File {
  constructor() {
    this.data = new Uint8Array(0);
    this.size = 0;
  }
  reserve(size) {
    if (size <= this.data.length) return;
    const data = new Uint8Array(Math.max(2 * this.data.length, size));
    data.set(this.data.subarray(0, this.size));
    this.data = data;
  }
  write(at, bytes) {
    this.reserve(at + bytes.length);
    this.data.set(bytes, at);
    this.size = Math.max(this.size, at + bytes.length);
  }
  get bytes() {
    return this.data.slice(0, this.size);
  }
}

export class Exit extends Error {
  constructor(code) {
    super(`exit ${code}`);
    this.code = code;
  }
}

export class MemoryWasi {
  /** @param {(text: string) => void} [print] */
  constructor(print) {
    this.print = print ?? (() => {});
    /** @type {Map<string, File | null>} null: a folder */
    this.files = new Map([["", null]]);
    /** @type {Map<number, any>} */
    this.open = new Map([[3, { path: "", folder: true }]]);
    this.next = 4;
    this.decoder = new TextDecoder();
    this.own = this.makeFunctions();
    // What nothing of perp calls answers that it is not there.
    this.imports = new Proxy(this.own, { get: (own, name) => own[/** @type {string} */ (name)] ?? (() => NOSYS) });
  }
  connect(instance) {
    this.memory = instance.exports.memory;
  }
  /** Names of the files in a folder. */
  list(folder) {
    const before = this.clean(folder) + "/";
    return [...this.files.keys()].filter((p) => p.startsWith(before)).map((p) => p.slice(before.length));
  }
  /** The bytes of a file; undefined: there is none. */
  read(path) {
    return this.files.get(this.clean(path))?.bytes;
  }
  clean(path) {
    const out = [];
    for (const part of path.split("/")) {
      if (part === "..") out.pop();
      else if (part && part !== ".") out.push(part);
    }
    return out.map((p) => "/" + p).join("");
  }

  isFile(path) {
    return !!this.files.get(this.clean(path));
  }

  makeFunctions() {
    let last = new DataView(new ArrayBuffer(0));
    const view = () => {
      if (last.buffer !== this.memory.buffer) last = new DataView(this.memory.buffer);
      return last;
    };
    const bytes = (at, size) => new Uint8Array(this.memory.buffer, at, size);
    const text = (at, size) => this.decoder.decode(bytes(at, size).slice());
    const where = (fd, at, size) => this.clean((this.open.get(fd)?.path ?? "") + "/" + text(at, size));
    const parent = (path) => path.slice(0, path.lastIndexOf("/"));
    const vectors = (at, count) =>
      Array.from({ length: count }, (_, k) => bytes(view().getUint32(at + 8 * k, true), view().getUint32(at + 8 * k + 4, true)));
    const stat = (out, path) => {
      const file = this.files.get(path);
      const v = view();
      for (let k = 0; k < 64; k += 4) v.setUint32(out + k, 0, true);
      // The number of the file: locks compare it.
      let number = 7;
      for (const c of path) number = (number * 31 + c.charCodeAt(0)) >>> 0;
      v.setUint32(out + 8, number, true);
      v.setUint8(out + 16, file ? REGULAR : FOLDER);
      v.setBigUint64(out + 24, 1n, true);
      v.setBigUint64(out + 32, BigInt(file?.size ?? 0), true);
      return OK;
    };
    const write = (fd, at, vector, count, done) => {
      const f = this.open.get(fd);
      let total = 0;
      for (const part of vectors(vector, count)) {
        if (fd === 1 || fd === 2) this.print(this.decoder.decode(part.slice()));
        else if (!f?.file) return BADF;
        else f.file.write(at + total, part);
        total += part.length;
      }
      view().setUint32(done, total, true);
      return OK;
    };
    const read = (fd, at, vector, count, done) => {
      const f = this.open.get(fd);
      let total = 0;
      if (!f?.file && fd !== 0) return BADF;
      for (const part of f ? vectors(vector, count) : []) {
        const got = f.file.data.subarray(at + total, Math.min(at + total + part.length, f.file.size));
        part.set(got);
        total += got.length;
      }
      view().setUint32(done, total, true);
      return OK;
    };
    const give64 = (out, value) => (view().setBigUint64(out, value, true), OK);
    const nothing = () => OK;
    return {
      args_get: nothing,
      args_sizes_get: (count, size) => (view().setUint32(count, 0, true), view().setUint32(size, 0, true), OK),
      environ_get: nothing,
      environ_sizes_get: (count, size) => (view().setUint32(count, 0, true), view().setUint32(size, 0, true), OK),
      clock_time_get: (_clock, _precision, out) => give64(out, BigInt(Math.round(performance.now() * 1e6))),
      clock_res_get: (_clock, out) => give64(out, 1000n),
      random_get: (at, size) => (globalThis.crypto.getRandomValues(bytes(at, size)), OK),
      proc_exit: (code) => {
        throw new Exit(code);
      },
      fd_prestat_get: (fd, out) => {
        if (fd !== 3) return BADF;
        view().setUint8(out, 0);
        view().setUint32(out + 4, 1, true);
        return OK;
      },
      fd_prestat_dir_name: (_fd, at) => (bytes(at, 1).set([47]), OK),
      fd_fdstat_get: (fd, out) => {
        const f = this.open.get(fd);
        if (!f && fd > 2) return BADF;
        const v = view();
        v.setUint8(out, f ? (f.folder ? FOLDER : REGULAR) : 2);
        v.setUint16(out + 2, 0, true);
        v.setBigUint64(out + 8, 0x1fffffffn, true);
        v.setBigUint64(out + 16, 0x1fffffffn, true);
        return OK;
      },
      fd_filestat_get: (fd, out) => (this.open.has(fd) ? stat(out, this.open.get(fd).path) : BADF),
      path_filestat_get: (fd, _flags, at, size, out) => {
        const path = where(fd, at, size);
        return this.files.has(path) ? stat(out, path) : NOENT;
      },
      path_open: (fd, _lookup, at, size, flags, _rights, _inherit, fdflags, out) => {
        const path = where(fd, at, size);
        const there = this.files.has(path);
        if (there && flags & CREAT && flags & EXCL) return EXIST;
        if (!there && !(flags & CREAT)) return NOENT;
        if (!there && this.files.get(parent(path)) !== null) return NOENT;
        if (!there) this.files.set(path, new File());
        const file = this.files.get(path);
        if (flags & DIRECTORY && file) return NOTDIR;
        if (file && flags & TRUNC) file.size = 0;
        const id = this.next++;
        this.open.set(id, { path, file, folder: file === null, at: 0, append: (fdflags & APPEND) !== 0 });
        view().setUint32(out, id, true);
        return OK;
      },
      fd_close: (fd) => (this.open.delete(fd) ? OK : fd > 2 ? BADF : OK),
      fd_write: (fd, vector, count, done) => {
        const f = this.open.get(fd);
        if (f?.append) f.at = f.file.size;
        const status = write(fd, f?.at ?? 0, vector, count, done);
        if (f && status === OK) f.at += view().getUint32(done, true);
        return status;
      },
      fd_read: (fd, vector, count, done) => {
        const f = this.open.get(fd);
        const status = read(fd, f?.at ?? 0, vector, count, done);
        if (f && status === OK) f.at += view().getUint32(done, true);
        return status;
      },
      fd_pwrite: (fd, vector, count, at, done) => write(fd, Number(at), vector, count, done),
      fd_pread: (fd, vector, count, at, done) => read(fd, Number(at), vector, count, done),
      fd_seek: (fd, by, whence, out) => {
        const f = this.open.get(fd);
        if (!f?.file) return BADF;
        const at = Number(by) + [0, f.at, f.file.size][whence];
        if (!(at >= 0)) return INVAL;
        f.at = at;
        return give64(out, BigInt(at));
      },
      fd_tell: (fd, out) => (this.open.get(fd)?.file ? give64(out, BigInt(this.open.get(fd).at)) : BADF),
      fd_filestat_set_size: (fd, size) => {
        const file = this.open.get(fd)?.file;
        if (!file) return BADF;
        file.reserve(Number(size));
        file.data.fill(0, file.size, Number(size));
        file.size = Number(size);
        return OK;
      },
      fd_readdir: (fd, buffer, room, cookie, used) => {
        const f = this.open.get(fd);
        if (!f?.folder) return BADF;
        const names = this.list(f.path).filter((name) => !name.includes("/"));
        let at = 0;
        for (let k = Number(cookie); k < names.length && at < room; k++) {
          const name = new TextEncoder().encode(names[k]);
          const entry = new Uint8Array(24 + name.length);
          const v = new DataView(entry.buffer);
          v.setBigUint64(0, BigInt(k + 1), true);
          v.setUint32(16, name.length, true);
          v.setUint8(20, this.isFile(f.path + "/" + names[k]) ? REGULAR : FOLDER);
          entry.set(name, 24);
          bytes(buffer + at, Math.min(entry.length, room - at)).set(entry.subarray(0, room - at));
          at += entry.length;
        }
        view().setUint32(used, Math.min(at, room), true);
        return OK;
      },
      path_create_directory: (fd, at, size) => {
        const path = where(fd, at, size);
        if (this.files.has(path)) return EXIST;
        if (this.files.get(parent(path)) !== null) return NOENT;
        this.files.set(path, null);
        return OK;
      },
      path_remove_directory: (fd, at, size) => {
        const path = where(fd, at, size);
        if (this.files.get(path) !== null || path === "") return NOENT;
        if (this.list(path).length > 0) return NOTEMPTY;
        this.files.delete(path);
        return OK;
      },
      path_unlink_file: (fd, at, size) => {
        const path = where(fd, at, size);
        if (!this.files.has(path)) return NOENT;
        if (this.files.get(path) === null) return ISDIR;
        this.files.delete(path);
        return OK;
      },
      path_rename: (fd, at, size, toFd, toAt, toSize) => {
        const from = where(fd, at, size);
        const to = where(toFd, toAt, toSize);
        if (!this.files.has(from)) return NOENT;
        for (const path of [...this.files.keys()].filter((p) => p === from || p.startsWith(from + "/"))) {
          this.files.set(to + path.slice(from.length), this.files.get(path) ?? null);
          this.files.delete(path);
        }
        return OK;
      },
      fd_sync: nothing,
      fd_datasync: nothing,
      fd_fdstat_set_flags: nothing,
      path_filestat_set_times: nothing,
      fd_filestat_set_times: nothing,
      sched_yield: nothing,
    };
  }
}
