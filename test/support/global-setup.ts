// Lets `npx vitest run some/file` work alone: it takes the kept services, or starts its own for the run.
import { keptServices, services, start } from '../../scripts/services/index.mjs'
import { openRun } from '../../scripts/services/run.mjs'

export async function setup(): Promise<() => Promise<unknown>> {
  const kept = keptServices()
  if (kept !== undefined) tell(kept)
  const everything = process.env.ONCEKEY_TEST_ALL === '1'
  const absent = services.filter(
    ({ variable, long }) => (everything || !long) && !named(variable) && !named(`${variable}_MISSING`),
  )
  if (absent.length === 0) return async () => {}
  const run = openRun()
  process.once('exit', run.stopNow)
  tell(await start(run, absent))
  return run.stop
}

function tell({ urls, missing }: Awaited<ReturnType<typeof start>>): void {
  for (const [variable, url] of Object.entries(urls)) if (!named(variable)) process.env[variable] = url
  for (const [variable, reason] of Object.entries(missing)) process.env[`${variable}_MISSING`] = reason
}

function named(variable: string): boolean {
  return (process.env[variable] ?? '') !== ''
}
