// A Redis Cluster for tests: three primaries and a replica of each, on loopback, for as long as a run lasts.
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from './process.mjs'
import { redisServer } from './redis.mjs'

const SLOTS = 16_384
const PRIMARIES = 3

/**
 * @typedef {{ readonly port: number, readonly pid: number, readonly id: string }} Node
 * @typedef {{ readonly nodes: readonly Node[], readonly addresses: readonly { readonly host: string, readonly port: number }[],
 *   ask(port: number, ...command: readonly string[]): Promise<string> }} Cluster
 */

/** @param {import('./run.mjs').Run} run @param {string} program @returns {Promise<Cluster>} */
export async function redisCluster(run, program) {
  const nodes = await Promise.all(Array.from({ length: 2 * PRIMARIES }, (_, at) => startNode(run, program, at)))
  const [first] = nodes
  if (first === undefined) throw new Error('no nodes')
  for (const { port, bus } of nodes) await ask(first.port, 'CLUSTER', 'MEET', '127.0.0.1', String(port), String(bus))
  const share = Math.ceil(SLOTS / PRIMARIES)
  for (const [at, { port }] of nodes.slice(0, PRIMARIES).entries()) {
    const last = Math.min((at + 1) * share, SLOTS) - 1
    await ask(port, 'CLUSTER', 'ADDSLOTSRANGE', String(at * share), String(last))
  }
  for (const [at, { port }] of nodes.slice(PRIMARIES).entries())
    await until(() => ask(port, 'CLUSTER', 'REPLICATE', nodes[at]?.id ?? '').then((said) => said.includes('OK')))
  for (const { port } of nodes) await until(() => isWhole(port))
  return { nodes, addresses: nodes.map(({ port }) => ({ host: '127.0.0.1', port })), ask }
}

/** @param {import('./run.mjs').Run} run @param {string} program @param {number} at */
async function startNode(run, program, at) {
  const bus = await freePort()
  const settings = ['--cluster-enabled', 'yes', '--cluster-port', String(bus), '--cluster-node-timeout', '2000']
  const { port, pid } = await redisServer(run, { program, name: `redis-node-${at}`, settings })
  const id = (await ask(port, 'CLUSTER', 'MYID')).split('\r\n')[1] ?? ''
  return { port, pid, id, bus }
}

/** Everybody knows of everybody, and every replica is at hand. @param {number} port */
async function isWhole(port) {
  const info = await ask(port, 'CLUSTER', 'INFO')
  const nodes = await ask(port, 'CLUSTER', 'NODES')
  const replicas = nodes.split('\n').filter((line) => / (myself,)?slave /.test(line) && / connected/.test(line))
  return info.includes('cluster_state:ok') && replicas.length === PRIMARIES
}

/** @param {() => Promise<boolean>} holds */
async function until(holds) {
  for (const end = Date.now() + 30_000; !(await holds()); await sleep(50))
    if (Date.now() > end) throw new Error('the cluster did not come together')
}

/** One command on a connection of its own; the answer as it came. @param {number} port @param {readonly string[]} command */
export function ask(port, ...command) {
  return new Promise((/** @type {(said: string) => void} */ resolve, reject) => {
    const socket = connect(port, '127.0.0.1')
    let said = ''
    socket.once('error', reject)
    socket.once('close', () => resolve(said))
    socket.once('connect', () => {
      const parts = command.map((part) => `$${Buffer.byteLength(part)}\r\n${part}\r\n`)
      socket.end(`*${parts.length}\r\n${parts.join('')}`)
    })
    socket.on('data', (piece) => {
      said += piece
    })
  })
}
