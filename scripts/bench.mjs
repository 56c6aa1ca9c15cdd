// `npm run bench`: the measurements, against a PostgreSQL of their own unless `--store` names another.
import { runProgram } from './run-program.mjs'

process.exitCode = await runProgram('bench', 'bench/dist/index.js', { always: true })
