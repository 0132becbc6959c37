// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The live view of the viewer, connected with the Worker instead of a server.
import { Live } from "../../viewer/src/live.js";

export class PageLive extends Live {
  /** @param {{ send: (command: any) => void, save: () => void }} link */
  constructor(app, host, link) {
    PageLive.opening = link; // the constructor of Live connects
    super(app, host);
  }
  connect() {
    this.link = PageLive.opening;
  }
  send(command) {
    if (command.save) this.link.save();
    else this.link.send(command);
  }
  build(s) {
    super.build(s);
    // The page has buttons of its own for these.
    this.host.querySelector("[name=save]").remove();
    this.host.querySelector("[name=stop]").remove();
  }
  stop() {}
}
/** @type {any} */
PageLive.opening = null;
