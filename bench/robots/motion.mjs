// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// node motion.mjs ROBOTS SECONDS FROM FILE…: what MuJoCo's WebAssembly build does with models, by line of JSON.
//
// FILE is MJCF, in ROBOTS/mjcf or a path of its own. Step, solver and softness are the model's. A model starts at its
// first keyframe, with the controls of that. Numbers as in motion.c: CPU time of a step [us], displacements of the
// centres of mass since FROM.
import fs from 'fs';
import path from 'path';
import {pathToFileURL} from 'url';

const [robots, seconds, from, ...files] = process.argv.slice(2);
const {default: load} = await import(pathToFileURL(path.resolve(process.env.MUJOCO_JS ?? 'node_modules/@mujoco/mujoco/mujoco.js')));
const M = await load();
const SAMPLES = 100;
const cpu = () => {
    const u = process.cpuUsage();
    return u.user + u.system;
};
const reset = (m, d) => m.nkey > 0 ? M.mj_resetDataKeyframe(m, d, 0) : M.mj_resetData(m, d);
const distance = (a, b) => {
    let most = 0;
    for (let i = 3; i < a.length; i += 3) {
        most = Math.max(most, Math.hypot(a[i] - b[i], a[i + 1] - b[i + 1], a[i + 2] - b[i + 2]));
    }
    return most;
};

// Models of the collection lack visual meshes; its tools/stub.mjs puts files in their places.
async function open(file) {
    if (fs.existsSync(file)) {
        const folder = path.dirname(file);
        for (const name of fs.readdirSync(folder, {recursive: true})) {
            const from = path.join(folder, name), to = path.posix.join('/own', name);
            if (fs.statSync(from).isFile()) {
                M.FS.mkdirTree(path.posix.dirname(to));
                M.FS.writeFile(to, fs.readFileSync(from));
            }
        }
        return M.MjModel.mj_loadXML('/own/' + path.basename(file));
    }
    const {Disk} = await import(pathToFileURL(path.resolve(robots, 'tools/stub.mjs')));
    const disk = new Disk(M, path.join(robots, 'mjcf'));
    const without = (t) => t.replace(/<extension>[\s\S]*?<\/extension>/g, '').replace(/<plugin\b[^>]*\/>/g, '');
    disk.put(file);
    try {
        return M.MjModel.mj_loadXML('/w/' + file);
    } catch (e) {
        disk.put(file, {edit: without});
        return M.MjModel.mj_loadXML('/w/' + file);
    }
}

for (const file of files) {
    try {
        const m = await open(file), d = new M.MjData(m), h = m.opt.timestep;
        const steps = Math.ceil(Number(seconds) / h - 1e-6), first = Math.ceil(Number(from) / h - 1e-6);
        reset(m, d);
        for (let k = 0; k < 50; k++) {  // compiled and warm before anything is measured
            M.mj_step(m, d);
        }
        reset(m, d);
        M.mj_forward(m, d);
        const start = Float64Array.from(d.xipos), moves = [];
        let since = start, contacts = 0, used = 0;
        for (let k = 0; k < steps; k++) {
            if (k === first) {
                M.mj_kinematics(m, d);
                M.mj_comPos(m, d);
                since = Float64Array.from(d.xipos);
            }
            const t0 = cpu();
            M.mj_step(m, d);
            used += cpu() - t0;
            contacts += d.ncon;
            while (k >= first && (k + 1 - first) * SAMPLES >= (moves.length + 1) * (steps - first)) {
                M.mj_kinematics(m, d);
                M.mj_comPos(m, d);
                moves.push(distance(d.xipos, since));
            }
        }
        console.log(JSON.stringify({file, us: used / steps, contacts: contacts / steps, moved: distance(d.xipos, start),
                                    h, moves}));
        d.delete();
        m.delete();
    } catch (e) {
        console.log(JSON.stringify({file, error: String(e?.message ?? e).replace(/\s+/g, ' ').slice(0, 200)}));
    }
}
