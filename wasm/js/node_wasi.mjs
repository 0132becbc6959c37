// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// WASI (preview 1) with the files of Node.js. Node's own module node:wasi crashed in its garbage collector while memory
// grew (20.20.2, scene wall3), so that it is not used.
import fs from "node:fs";
import path from "node:path";
import { MemoryWasi } from "./wasi.mjs";

const NUMBERS = { EACCES: 2, EAGAIN: 6, EBADF: 8, EEXIST: 20, EINVAL: 28, EIO: 29, EISDIR: 31, ELOOP: 32, EMFILE: 33, ENAMETOOLONG: 37, ENOENT: 44, ENOSPC: 51, ENOTDIR: 54, ENOTEMPTY: 55, EPERM: 63, EPIPE: 64, EROFS: 69 };
const [FOLDER, REGULAR, DEVICE] = [3, 4, 2];

export class NodeWasi extends MemoryWasi {
  /**
   * @param {string[]} args
   * @param {Record<string, string>} env
   * @param {string} root the folder that is "/" for the program
   */
  constructor(args, env, root) {
    super();
    this.root = root;
    this.args = args;
    this.env = Object.entries(env).map(([name, value]) => `${name}=${value}`);
    /** @type {Map<number, any>} */
    this.open = new Map([0, 1, 2].map((fd) => [fd, { fd, at: null }]));
    this.open.set(3, { path: root, folder: true });
    Object.assign(this.own, this.real());
  }

  // Every function reports the errors of Node.js by their WASI numbers.
  real() {
    const view = () => new DataView(this.memory.buffer);
    const bytes = (at, size) => new Uint8Array(this.memory.buffer, at, size);
    const text = (at, size) => new TextDecoder().decode(bytes(at, size).slice());
    const where = (fd, at, size) => path.join(this.open.get(fd).path, text(at, size));
    const vectors = (at, count) =>
      Array.from({ length: count }, (_, k) => bytes(view().getUint32(at + 8 * k, true), view().getUint32(at + 8 * k + 4, true)));
    const strings = (list, pointers, at) => {
      for (const s of list) {
        const line = new TextEncoder().encode(s + "\0");
        view().setUint32(pointers, at, true);
        bytes(at, line.length).set(line);
        pointers += 4;
        at += line.length;
      }
      return 0;
    };
    const sizes = (list, count, size) => {
      view().setUint32(count, list.length, true);
      view().setUint32(size, list.reduce((n, s) => n + new TextEncoder().encode(s).length + 1, 0), true);
      return 0;
    };
    const stat = (out, s) => {
      const v = view();
      for (let k = 0; k < 64; k += 4) v.setUint32(out + k, 0, true);
      v.setBigUint64(out, BigInt(s.dev), true);
      v.setBigUint64(out + 8, BigInt(s.ino), true);
      v.setUint8(out + 16, s.isDirectory() ? FOLDER : s.isFile() ? REGULAR : DEVICE);
      v.setBigUint64(out + 24, BigInt(s.nlink), true);
      v.setBigUint64(out + 32, BigInt(s.size), true);
      return 0;
    };
    // at null: where the file is; a number: there.
    const transfer = (act) => (fd, at, vector, count, done) => {
      let total = 0;
      for (const part of vectors(vector, count)) {
        const n = part.length > 0 ? act(fd, part, 0, part.length, at === null ? null : at + total) : 0;
        total += n;
        if (n < part.length) break;
      }
      view().setUint32(done, total, true);
      return 0;
    };
    const write = transfer(fs.writeSync);
    const read = transfer(fs.readSync);
    // Files keep their own place; terminals and pipes have none.
    const along = (act) => (fd, vector, count, done) => {
      const f = this.open.get(fd);
      if (!f || f.folder) return NUMBERS.EBADF;
      if (f.append) f.at = fs.fstatSync(f.fd).size;
      act(f.fd, f.at, vector, count, done);
      if (f.at !== null) f.at += view().getUint32(done, true);
      return 0;
    };
    const functions = {
      args_get: (pointers, at) => strings(this.args, pointers, at),
      args_sizes_get: (count, size) => sizes(this.args, count, size),
      environ_get: (pointers, at) => strings(this.env, pointers, at),
      environ_sizes_get: (count, size) => sizes(this.env, count, size),
      fd_fdstat_get: (fd, out) => {
        const f = this.open.get(fd);
        if (!f) return NUMBERS.EBADF;
        view().setUint8(out, f.folder ? FOLDER : f.at === null ? DEVICE : REGULAR);
        view().setUint16(out + 2, f.append ? 1 : 0, true);
        view().setBigUint64(out + 8, 0x1fffffffn, true);
        view().setBigUint64(out + 16, 0x1fffffffn, true);
        return 0;
      },
      fd_filestat_get: (fd, out) => {
        const f = this.open.get(fd);
        if (!f) return NUMBERS.EBADF;
        return stat(out, f.folder ? fs.statSync(f.path) : fs.fstatSync(f.fd));
      },
      path_filestat_get: (fd, flags, at, size, out) => stat(out, (flags & 1 ? fs.statSync : fs.lstatSync)(where(fd, at, size))),
      path_open: (fd, _lookup, at, size, flags, rights, _inherit, fdflags, out) => {
        const file = where(fd, at, size);
        const { O_CREAT, O_EXCL, O_TRUNC, O_DIRECTORY, O_RDONLY, O_RDWR, O_WRONLY } = fs.constants;
        const [reads, writes] = [(rights & 2n) !== 0n, (rights & 64n) !== 0n];
        let how = writes ? (reads ? O_RDWR : O_WRONLY) : O_RDONLY;
        if (flags & 1) how |= O_CREAT;
        if (flags & 2) how |= O_DIRECTORY;
        if (flags & 4) how |= O_EXCL;
        if (flags & 8) how |= O_TRUNC;
        const real = fs.openSync(file, how, 0o666);
        const about = fs.fstatSync(real);
        const id = this.next++;
        this.open.set(id, { fd: real, path: file, folder: about.isDirectory(), at: about.isFile() ? 0 : null, append: (fdflags & 1) !== 0 });
        view().setUint32(out, id, true);
        return 0;
      },
      fd_close: (fd) => {
        const f = this.open.get(fd);
        if (!f) return NUMBERS.EBADF;
        if (fd > 3) fs.closeSync(f.fd);
        this.open.delete(fd);
        return 0;
      },
      fd_write: along(write),
      fd_read: along(read),
      fd_pwrite: (fd, vector, count, at, done) => write(this.open.get(fd).fd, Number(at), vector, count, done),
      fd_pread: (fd, vector, count, at, done) => read(this.open.get(fd).fd, Number(at), vector, count, done),
      fd_seek: (fd, by, whence, out) => {
        const f = this.open.get(fd);
        if (!f || f.folder || f.at === null) return NUMBERS.EBADF;
        f.at = Number(by) + (whence === 0 ? 0 : whence === 1 ? f.at : fs.fstatSync(f.fd).size);
        view().setBigUint64(out, BigInt(f.at), true);
        return 0;
      },
      fd_filestat_set_size: (fd, size) => (fs.ftruncateSync(this.open.get(fd).fd, Number(size)), 0),
      fd_sync: (fd) => (fs.fsyncSync(this.open.get(fd).fd), 0),
      path_create_directory: (fd, at, size) => (fs.mkdirSync(where(fd, at, size)), 0),
      path_remove_directory: (fd, at, size) => (fs.rmdirSync(where(fd, at, size)), 0),
      path_unlink_file: (fd, at, size) => (fs.unlinkSync(where(fd, at, size)), 0),
      path_rename: (fd, at, size, toFd, toAt, toSize) => (fs.renameSync(where(fd, at, size), where(toFd, toAt, toSize)), 0),
    };
    const guarded = {};
    for (const [name, f] of Object.entries(functions)) {
      guarded[name] = (...args) => {
        try {
          return f(...args);
        } catch (e) {
          if (e.code === "EPIPE") process.exit(0);
          if (!e.code) throw e;
          return NUMBERS[e.code] ?? NUMBERS.EIO;
        }
      };
    }
    return guarded;
  }
  list(folder) {
    return fs.readdirSync(folder);
  }
  isFile(file) {
    return fs.statSync(file, { throwIfNoEntry: false })?.isFile() ?? false;
  }
}
