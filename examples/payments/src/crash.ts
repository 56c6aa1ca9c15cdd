// For the demo and the tests: the process ends itself with SIGKILL at a named point, as a power cut would.
import { subscribe } from 'node:diagnostics_channel'

/** `CRASH_AT=claimed|keeping|kept`: oncekey's own events are the kill points. */
export function crashAt(event: string | undefined): void {
  if (event) subscribe(`oncekey:${event}`, () => process.kill(process.pid, 'SIGKILL'))
}
