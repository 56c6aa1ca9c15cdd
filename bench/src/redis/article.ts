// The first article's claim in Redis: SET NX GET claims, a script stores the result where the claim is still ours.
import { createHash, randomUUID } from 'node:crypto'
import { bodyOf, REQUEST_BODY } from '../ours.ts'

const LEASE_SECONDS = 30
const KEEP_SECONDS = 24 * 3_600
const SWAP_IF_OURS = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
if ARGV[2] == '' then return redis.call('DEL', KEYS[1]) end
redis.call('SET', KEYS[1], ARGV[2], 'EX', ARGV[3])
return 1`

interface Commands {
  claim(key: string, value: string, seconds: number): Promise<string | null>
  script(sha: string, key: string, args: readonly string[]): Promise<unknown>
  load(text: string): Promise<string>
}

export function article({ claim, script, load }: Commands) {
  const loaded = load(SWAP_IF_OURS)
  const fingerprint = () => createHash('sha256').update(REQUEST_BODY).digest('hex')

  /** A new key, or what stands there. */
  return async function operation(key: string): Promise<'new' | 'replay' | 'in_progress' | 'mismatch'> {
    const fp = fingerprint()
    const name = `bench:article:client:${key}`
    const mine = JSON.stringify({ status: 'in_progress', fp, owner: randomUUID() })
    const existing = await claim(name, mine, LEASE_SECONDS)
    if (existing !== null) {
      const record = JSON.parse(existing) as { status: string; fp: string }
      if (record.fp !== fp) return 'mismatch'
      return record.status === 'completed' ? 'replay' : 'in_progress'
    }
    const body = JSON.parse(bodyOf(1)) as unknown
    const done = JSON.stringify({ status: 'completed', fp, code: 201, body })
    if ((await script(await loaded, name, [mine, done, String(KEEP_SECONDS)])) !== 1) throw new Error('not ours')
    return 'new'
  }
}
