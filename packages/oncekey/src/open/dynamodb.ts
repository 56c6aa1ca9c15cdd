/** `dynamodb:table`, `dynamodb:table?region=eu-central-1`, and `dynamodb:table?endpoint=http://127.0.0.1:8000` for an emulator. */
import type { DynamoDBClient, DynamoDBClientConfig } from '@aws-sdk/client-dynamodb'
import { afterOf, durationsOf, loadDriver, type Opener } from './opener.ts'

export const openDynamodb: Opener = {
  modes: ['lease'],
  async open(url, options) {
    const { pathname, searchParams } = new URL(url)
    const { module } = await loadDriver(DRIVERS, options.driver)
    const { DynamoDBClient: Client } = module as {
      DynamoDBClient: new (config: DynamoDBClientConfig) => DynamoDBClient
    }
    const client = new Client(configOf(searchParams.get('endpoint'), searchParams.get('region')))
    const { dynamodb } = await import('../stores/dynamodb/index.ts')
    const table = decodeURIComponent(pathname) || options.schema
    const store = dynamodb(client, {
      ...durationsOf(options),
      ...(table === undefined ? {} : { table }),
      ...afterOf(options),
    })
    return {
      ...store,
      // The store leaves its client alone; this one was opened for it.
      async [Symbol.asyncDispose]() {
        await store[Symbol.asyncDispose]()
        client.destroy()
      },
    }
  },
}

const DRIVERS = [{ name: '@aws-sdk/client-dynamodb', load: () => import('@aws-sdk/client-dynamodb') }] as const

/** Region and credentials are looked for where the SDK always looks; an emulator on this machine wants some, and any will do. */
function configOf(endpoint: string | null, region: string | null): DynamoDBClientConfig {
  const emulator = endpoint !== null && /^(localhost|127\.|\[::1\])/.test(new URL(endpoint).hostname)
  const { AWS_REGION, AWS_ACCESS_KEY_ID, AWS_PROFILE } = process.env
  const local = emulator && AWS_ACCESS_KEY_ID === undefined && AWS_PROFILE === undefined
  return {
    ...(endpoint === null ? {} : { endpoint }),
    ...(region === null ? (emulator && AWS_REGION === undefined ? { region: 'local' } : {}) : { region }),
    ...(local ? { credentials: { accessKeyId: 'local', secretAccessKey: 'local' } } : {}),
  }
}
