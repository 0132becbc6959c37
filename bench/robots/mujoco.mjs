// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// node mujoco.mjs ROBOTS STEPS [--hold] [--folder DIR] FILE.xml…: CPU time of a step of MuJoCo's WebAssembly build, by line of JSON.
//
// ROBOTS is the folder of reference robots; its tools/stub.mjs puts files in place of visual meshes that are absent.
// Models are in its folder mjcf, or in DIR.
// Run node with --no-liftoff: by default V8 begins with unoptimised code, in which a step takes up to ten times as long.
// A robot starts at its first keyframe. --hold: position servos follow that pose; motors without one hold it by
// kp 100 and critical damping of the diagonal of M, applied as joint stiffness and damping.
import fs from 'fs';
import path from 'path';
import {pathToFileURL} from 'url';

const args = process.argv.slice(2);
const hold = args.includes('--hold');
const given = args.indexOf('--folder');
const folder = given >= 0 ? args.splice(given, 2)[1] : null;
const [robots, steps, ...files] = args.filter((a) => a !== '--hold');
const {default: load} = await import(pathToFileURL(path.resolve(process.env.MUJOCO_JS ?? 'node_modules/@mujoco/mujoco/mujoco.js')));
const {Disk, message} = await import(pathToFileURL(path.resolve(robots, 'tools/stub.mjs')));
const M = await load();
const cpu = () => {
    const u = process.cpuUsage();
    return u.user + u.system;
};
for (const file of files) {
    let m = null;
    try {
        const disk = new Disk(M, folder ?? path.join(robots, 'mjcf'));
        const without = (t) => t.replace(/<extension>[\s\S]*?<\/extension>/g, '').replace(/<plugin\b[^>]*\/>/g, '');
        disk.put(file);
        try {
            m = M.MjModel.mj_loadXML('/w/' + file);
        } catch (e) {
            disk.put(file, {edit: without});
            m = M.MjModel.mj_loadXML('/w/' + file);
        }
        m.opt.timestep = 0.002;
        const d = new M.MjData(m);
        if (m.nkey > 0) {
            M.mj_resetDataKeyframe(m, d, 0);
        }
        if (!hold && m.nu > 0) {
            m.actuator_gainprm.fill(0);
            m.actuator_biasprm.fill(0);
        }
        M.mj_forward(m, d);
        for (let k = 0; k < 200; k++) {  // compiled and warm before anything is measured
            M.mj_step(m, d);
        }
        if (m.nkey > 0) {
            M.mj_resetDataKeyframe(m, d, 0);
        } else {
            M.mj_resetData(m, d);
        }
        let contacts = 0;
        const t0 = cpu();
        for (let k = 0; k < Number(steps); k++) {
            M.mj_step(m, d);
            contacts += d.ncon;
        }
        const us = (cpu() - t0) / Number(steps);
        console.log(JSON.stringify({file, us, contacts: contacts / Number(steps)}));
        d.delete();
    } catch (e) {
        console.log(JSON.stringify({file, error: message(M, e).replace(/\s+/g, ' ').slice(0, 200)}));
    }
    m?.delete();
}
