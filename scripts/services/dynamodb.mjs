// DynamoDB Local for tests: the only DynamoDB of one's own that has transactions. It listens on all interfaces and
// cannot be told otherwise, so it runs in a network namespace that has none but its own loopback.
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isRoot } from './account.mjs'
import { becomes, execute, freePort } from './process.mjs'
import { stateFolder } from './run.mjs'

// The emulator of Amazon's DynamoDB Local 1.25.1. Its licence lets us use it and not hand it on: fetched, never committed.
const PACKAGE = 'amplify-dynamodb-simulator@2.9.30'
const SHA512 = 'xTeeRLvzEfqyd5lh3bH4c0kHvSHHmmhD5ZDsHFKAQ5g2Zl6JqlFdutaQhCLHzxEp6Ry1o7TB6niIoXuQAnSewQ=='

const relay = fileURLToPath(new URL('relay.mjs', import.meta.url))

/** @type {import('./index.mjs').Service} */
export const dynamodb = {
  name: 'dynamodb',
  variable: 'ONCEKEY_TEST_DYNAMODB',
  long: true,
  async start(run) {
    if (!execute('java', ['-version']).ok) return { missing: 'no DynamoDB Local without a Java (17 or newer)' }
    if (!execute('unshare', isolated(['ip', 'link', 'set', 'lo', 'up'])).ok)
      return {
        missing:
          'no DynamoDB Local: it would listen on all interfaces, and `unshare` and `ip` give it no namespace here',
      }
    const emulator = fetched()
    if ('missing' in emulator) return emulator
    const socket = join(run.directory, 'dynamodb.sock')
    const server = run.launch('dynamodb', 'unshare', isolated(['sh', '-c', inside(emulator.folder, socket)]), {
      // `unshare` waits for its child through every other signal.
      signals: ['SIGKILL'],
    })
    const port = await freePort()
    const door = run.launch('dynamodb-relay', process.execPath, [relay, String(port), socket])
    const url = `http://127.0.0.1:${port}`
    const ready = () =>
      // On a crowded machine a connection may wait for a server that is still starting.
      fetch(url, { signal: AbortSignal.timeout(2_000) }).then(
        () => true,
        () => false,
      )
    if (!(await becomes(server, ready, 60_000)))
      throw new Error(`DynamoDB Local did not start: see ${server.log} and ${door.log}`)
    return { url }
  },
}

/** Whatever runs in the namespace dies with `unshare`. @param {readonly string[]} command */
function isolated(command) {
  const user = isRoot ? [] : ['--user', '--map-root-user']
  return [...user, '--net', '--pid', '--fork', '--kill-child=KILL', '--', ...command]
}

/** The port is the namespace's own, so that nobody else can have it. @param {string} folder @param {string} socket */
function inside(folder, socket) {
  const java = [
    // One of two cores is a test's: the compiler of the server class would take seconds of both.
    '-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xmx512m',
    `-Djava.library.path='${folder}/DynamoDBLocal_lib' -jar '${folder}/DynamoDBLocal.jar' -inMemory -sharedDb -port 8000`,
  ]
  return `ip link set lo up && { java ${java.join(' ')} & exec '${process.execPath}' '${relay}' '${socket}' 8000; }`
}

/** @returns {{ readonly folder: string } | { readonly missing: string }} */
function fetched() {
  const ready = join(stateFolder(), 'dynamodb-local-1.25.1')
  if (existsSync(ready)) return { folder: ready }
  const draft = mkdtempSync(`${ready}.`)
  try {
    const packed = execute('npm', ['pack', PACKAGE, '--silent', '--pack-destination', draft])
    const [tarball] = packed.ok ? readdirSync(draft) : []
    if (tarball === undefined) return { missing: `no DynamoDB Local: npm gave no ${PACKAGE} (${packed.why})` }
    const file = join(draft, tarball)
    if (createHash('sha512').update(readFileSync(file)).digest('base64') !== SHA512)
      throw new Error(`${PACKAGE} is not what it was: its digest differs`)
    const unpacked = join(draft, 'emulator')
    mkdirSync(unpacked)
    const args = ['-xzf', file, '-C', unpacked, '--strip-components=2', 'package/emulator']
    const { ok, why } = execute('tar', args)
    if (!ok) throw new Error(`DynamoDB Local could not be unpacked: ${why}`)
    renameSync(unpacked, ready)
  } catch (error) {
    // Another run may have been quicker.
    if (!existsSync(ready)) throw error
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
  return { folder: ready }
}
