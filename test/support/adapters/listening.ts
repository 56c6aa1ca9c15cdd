// A server on a free port of 127.0.0.1, closed with its connections.
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { AdapterServer } from '../../../packages/oncekey/src/testing/adapter-contract.ts'

export async function listening(server: Server): Promise<AdapterServer> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
