// dynalite has no types of its own.
declare module 'dynalite' {
  import type { Server } from 'node:http'

  function dynalite(options?: {
    readonly path?: string
    readonly createTableMs?: number
    readonly deleteTableMs?: number
    readonly updateTableMs?: number
  }): Server
  export = dynalite
}
