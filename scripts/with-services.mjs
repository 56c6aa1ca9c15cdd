// Runs one program with services at its side, and ends both whatever happens: success, failure or a signal.
import { start } from './services/index.mjs'
import { openRun } from './services/run.mjs'

// A program that is asked to end gets this long to close its own connections.
const patience = 15_000

/**
 * @param {{ readonly name: string, readonly services: readonly import('./services/index.mjs').Service[],
 *   args(running: import('./services/index.mjs').Running): readonly string[], readonly env?: NodeJS.ProcessEnv }} program
 * @returns {Promise<number>} its exit code
 */
export async function withServices({ name, services, args, env = process.env }) {
  const run = openRun()
  let running = 0
  let interrupted = 0
  const interrupt = (/** @type {NodeJS.Signals} */ signal) => {
    // Ctrl-C in a terminal has reached the program already, and a second one means now.
    const told = signal === 'SIGINT' && process.stdin.isTTY
    if (running !== 0 && !(told && interrupted === 0)) kill(running, interrupted === 0 ? signal : 'SIGKILL')
    if (interrupted === 0 && running !== 0) setTimeout(() => kill(running, 'SIGKILL'), patience).unref()
    interrupted = signal === 'SIGTERM' ? 143 : 130
  }
  for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP'])) process.on(signal, interrupt)
  process.on('exit', () => run.stopNow())
  if (process.env.npm_lifecycle_event !== undefined) whenOrphaned(() => interrupt('SIGTERM'))
  try {
    const found = await start(run, services, env)
    if (interrupted !== 0) return interrupted
    const told = Object.fromEntries(
      Object.entries(found.missing).map(([variable, why]) => [`${variable}_MISSING`, why]),
    )
    const launched = run.launch(name, process.execPath, args(found), {
      stdio: 'inherit',
      env: { ...env, ...found.urls, ...told },
    })
    running = launched.pid
    const code = await launched.ended
    running = 0
    return interrupted === 0 ? code : interrupted
  } finally {
    await run.stop()
  }
}

/** npm runs a script in a shell, and a shell that is ended keeps the signal to itself. @param {() => void} act */
function whenOrphaned(act) {
  const parent = process.ppid
  const watch = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(watch)
    act()
  }, 250)
  watch.unref()
}

/** @param {number} pid @param {NodeJS.Signals} signal */
function kill(pid, signal) {
  try {
    process.kill(pid, signal)
  } catch {
    // It has ended in the meantime.
  }
}
