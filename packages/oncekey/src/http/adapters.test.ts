// Every adapter, in every way of mounting it, is held to the same list of rules, over real sockets.
import { createRequire } from 'node:module'
import express5 from 'express'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { type Express, serveExpress } from '../../../../test/support/adapters/express.ts'
import { serveFetch } from '../../../../test/support/adapters/fetch.ts'
import { serveHono } from '../../../../test/support/adapters/hono.ts'
import { downstreamDedupes } from '../core/policy.ts'
import { memory } from '../stores/memory.ts'
import { adapterContract } from '../testing/adapter-contract.ts'

const runner = { describe, it, beforeAll, afterAll }
const store = () => memory(downstreamDedupes({ for: '24h' }))
const four = createRequire(import.meta.url)('express4') as Express

for (const [name, serve] of [
  ['fetch', serveFetch],
  ['Hono, as middleware', serveHono('middleware')],
  ['Hono, around the handler', serveHono('wrapped')],
  ['Express 5, before the body parser', serveExpress(express5, 'before the parser')],
  ['Express 4, before the body parser', serveExpress(four, 'before the parser')],
] as const)
  adapterContract({ name, store, serve, runner })

for (const [name, serve] of [
  ['Express 5, behind the body parser', serveExpress(express5, 'behind the parser')],
  ['Express 5, around the handler, behind the body parser', serveExpress(express5, 'wrapped')],
  ['Express 4, behind the body parser', serveExpress(four, 'behind the parser')],
] as const)
  adapterContract({ name, store, serve, reads: 'parsed', runner })
