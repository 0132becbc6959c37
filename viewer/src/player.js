// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The clock of a replay.
import { lower } from "./data.js";

export const SPEEDS = [0.02, 0.05, 0.1, 0.25, 0.5, 1, 2, 4, 8];

export class Player {
  constructor(run, changed) {
    this.run = run;
    this.changed = changed;
    this.t = run.t0;
    this.playing = false;
    this.loop = true;
    this.speed = 1;
  }
  play(on = !this.playing) {
    this.playing = on && this.run.t1 > this.run.t0;
    if (this.playing && this.t >= this.run.t1) this.t = this.run.t0;
    this.changed();
  }
  seek(t) {
    this.t = Math.min(this.run.t1, Math.max(this.run.t0, t));
    this.changed();
  }
  // Moves by a number of frames from the nearest one.
  step(frames) {
    this.playing = false;
    const times = this.run.poses.t;
    const eps = 1e-9 * (1 + Math.abs(this.t));
    let k = lower(times, this.t + eps);
    if (frames < 0 && times.data[k] < this.t - eps) k++;
    k = Math.min(times.rows - 1, Math.max(0, k + frames));
    this.seek(times.data[k]);
  }
  faster(by) {
    const k = SPEEDS.indexOf(this.speed);
    this.speed = SPEEDS[Math.min(SPEEDS.length - 1, Math.max(0, (k < 0 ? 5 : k) + by))];
    this.changed();
  }
  tick(seconds) {
    if (!this.playing) return;
    this.t += seconds * this.speed;
    if (this.t >= this.run.t1) {
      const span = this.run.t1 - this.run.t0;
      if (this.loop) this.t = this.run.t0 + ((this.t - this.run.t0) % span);
      else {
        this.t = this.run.t1;
        this.playing = false;
        this.changed();
      }
    }
  }
}
