// Passes connections on: from a loopback port to a socket file, or from a socket file to a loopback port. A socket file
// is how a server in a network namespace of its own is reached from outside.
import { connect, createServer } from 'node:net'

const [from = '', to = ''] = process.argv.slice(2)

const server = createServer({ allowHalfOpen: true }, (near) => {
  const far = connect({ ...addressOf(to), allowHalfOpen: true })
  for (const [one, other] of [
    [near, far],
    [far, near],
  ]) {
    one?.pipe(/** @type {import('node:net').Socket} */ (other))
    one?.on('error', () => other?.destroy())
    one?.on('close', () => other?.destroy())
  }
})
server.listen(addressOf(from))

/** @param {string} address a port of 127.0.0.1, or the path of a socket file */
function addressOf(address) {
  return /^\d+$/.test(address) ? { port: Number(address), host: '127.0.0.1' } : { path: address }
}
