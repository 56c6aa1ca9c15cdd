// `npm run demo`: the payments example, on SQLite unless `--store postgres` asks for a server, which is started for it.
import { runProgram } from './run-program.mjs'

process.exitCode = await runProgram('demo', 'examples/payments/dist/demo.js')
