// SPDX-License-Identifier: Apache-2.0
// node redlock.js VERSION PORT…: executes the commands "lock NAME MS", "extend MS" and "unlock" from standard input, one per line, and
// replies to each with "yes" or "no". Exits when its input ends.
'use strict';

const Redis = require('ioredis');

const [version, ...ports] = process.argv.slice(2);
const clients = ports.map((port) => new Redis({ host: '127.0.0.1', port: Number(port) }));
const options = { retryCount: 0 };
let held;
let lock;

if (version === '4') {
  const Redlock = require('redlock4');
  const redlock = new Redlock(clients, options);
  lock = async (name, ms) => {
    const granted = await redlock.lock(name, ms);
    return { extend: (more) => granted.extend(more), unlock: () => granted.unlock() };
  };
} else {
  const { default: Redlock } = require('redlock5');
  const redlock = new Redlock(clients, options);
  redlock.on('error', () => {}); // emitted for each failed vote; without a listener it would end the process
  lock = async (name, ms) => {
    let granted = await redlock.acquire([name], ms);
    return {
      extend: async (more) => {
        granted = await granted.extend(more);
      },
      unlock: () => granted.release(),
    };
  };
}

const commands = {
  lock: async (name, ms) => {
    held = await lock(name, Number(ms));
  },
  extend: (ms) => held.extend(Number(ms)),
  unlock: () => held.unlock(),
};

async function main() {
  for await (const line of require('node:readline').createInterface({ input: process.stdin })) {
    const [command, ...args] = line.split(' ');
    try {
      await commands[command](...args);
      console.log('yes');
    } catch (error) {
      console.log('no');
      console.error(String(error));
    }
  }
  process.exit(0);
}

main();
