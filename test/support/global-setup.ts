// Lets `npx vitest run some/file` work alone: it takes the kept services, or starts its own for the run.
import { chosen, keptServices, services, start } from '../../scripts/services/index.mjs'
import { openRun } from '../../scripts/services/run.mjs'

export async function setup(): Promise<() => Promise<unknown>> {
  if (services.every(({ variable }) => named(variable))) return async () => {}
  const kept = keptServices()
  if (kept !== undefined) tell(kept)
  const absent = services.filter(({ variable }) => !named(variable) && !named(`${variable}_MISSING`))
  const run = openRun()
  process.once('exit', run.stopNow)
  tell(await start(run, chosen(absent.map(({ name }) => name))))
  return run.stop
}

function tell({ urls, missing }: Awaited<ReturnType<typeof start>>): void {
  for (const [variable, url] of Object.entries(urls)) if (!named(variable)) process.env[variable] = url
  for (const [variable, reason] of Object.entries(missing)) process.env[`${variable}_MISSING`] = reason
}

function named(variable: string): boolean {
  return (process.env[variable] ?? '') !== ''
}
