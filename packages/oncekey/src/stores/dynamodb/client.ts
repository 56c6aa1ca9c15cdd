/** How the store talks to DynamoDB: through the application's own client, with the SDK's own commands. */
import type {
  AttributeValue,
  CreateTableCommandInput,
  CreateTableCommandOutput,
  DeleteItemCommandInput,
  DeleteItemCommandOutput,
  DescribeTableCommandInput,
  DescribeTableCommandOutput,
  DescribeTimeToLiveCommandInput,
  DescribeTimeToLiveCommandOutput,
  GetItemCommandInput,
  GetItemCommandOutput,
  PutItemCommandInput,
  PutItemCommandOutput,
  ScanCommandInput,
  ScanCommandOutput,
  TransactWriteItemsCommandInput,
  TransactWriteItemsCommandOutput,
  UpdateItemCommandInput,
  UpdateItemCommandOutput,
  UpdateTimeToLiveCommandInput,
  UpdateTimeToLiveCommandOutput,
} from '@aws-sdk/client-dynamodb'
import { monotonic } from '../../core/clock.ts'
import { OncekeyError } from '../../core/errors.ts'
import type { ServiceClock } from './service-clock.ts'

/** A `DynamoDBClient`, the aggregated `DynamoDB`, or a `DynamoDBDocumentClient`, of version 3 of the SDK. */
export interface DynamoClient {
  send(command: never, options?: never): unknown
  readonly middlewareStack: object
}

interface Calls {
  GetItem: [GetItemCommandInput, GetItemCommandOutput]
  PutItem: [PutItemCommandInput, PutItemCommandOutput]
  UpdateItem: [UpdateItemCommandInput, UpdateItemCommandOutput]
  DeleteItem: [DeleteItemCommandInput, DeleteItemCommandOutput]
  TransactWriteItems: [TransactWriteItemsCommandInput, TransactWriteItemsCommandOutput]
  Scan: [ScanCommandInput, ScanCommandOutput]
  DescribeTable: [DescribeTableCommandInput, DescribeTableCommandOutput]
  CreateTable: [CreateTableCommandInput, CreateTableCommandOutput]
  DescribeTimeToLive: [DescribeTimeToLiveCommandInput, DescribeTimeToLiveCommandOutput]
  UpdateTimeToLive: [UpdateTimeToLiveCommandInput, UpdateTimeToLiveCommandOutput]
}
export type Call = <N extends keyof Calls>(name: N, input: Calls[N][0]) => Promise<Calls[N][1]>

export type Attributes = Readonly<Record<string, AttributeValue>>

/** Longer than any answer takes that somebody still waits for; a socket that hangs is then given up, not kept. */
const CALL_MS = 10_000

/**
 * The commands are imported when the first call is made: whoever has a client has the package, and nobody else loads
 * it. (Handing them over with the client would be one more thing to get wrong; the aggregated client, whose methods
 * need no commands, keeps every bundler from leaving anything out.)
 */
export function caller(client: DynamoClient, clock: ServiceClock): Call {
  const send = client.send.bind(client) as unknown as Send
  let loading: ReturnType<typeof load> | undefined

  return async function call(name, input) {
    loading ??= load()
    const Command = (await loading)[name] as unknown as new (given: unknown) => Sent
    const command = new Command(input)
    // On the command's own stack: the application's client stays as it is.
    command.middlewareStack.add(hearing(clock), { step: 'deserialize', priority: 'low', name: 'oncekeyClock' })
    return send(command, { abortSignal: AbortSignal.timeout(CALL_MS) })
  }
}

type Send = (command: unknown, options: object) => Promise<never>
interface Sent {
  readonly middlewareStack: { add(middleware: unknown, options: object): void }
}
interface Result {
  readonly response?: { readonly headers?: Readonly<Record<string, string>> }
}

/** Innermost, so that it sees every response of every try before it is read, refusals too. */
function hearing(clock: ServiceClock) {
  return (next: (args: unknown) => Promise<Result>) =>
    async function hear(args: unknown): Promise<Result> {
      const sentAt = monotonic()
      const result = await next(args)
      clock.heard(result.response?.headers?.date, sentAt, monotonic())
      return result
    }
}

async function load() {
  try {
    const {
      GetItemCommand,
      PutItemCommand,
      UpdateItemCommand,
      DeleteItemCommand,
      TransactWriteItemsCommand,
      ScanCommand,
      DescribeTableCommand,
      CreateTableCommand,
      DescribeTimeToLiveCommand,
      UpdateTimeToLiveCommand,
    } = await import('@aws-sdk/client-dynamodb')
    return {
      GetItem: GetItemCommand,
      PutItem: PutItemCommand,
      UpdateItem: UpdateItemCommand,
      DeleteItem: DeleteItemCommand,
      TransactWriteItems: TransactWriteItemsCommand,
      Scan: ScanCommand,
      DescribeTable: DescribeTableCommand,
      CreateTable: CreateTableCommand,
      DescribeTimeToLive: DescribeTimeToLiveCommand,
      UpdateTimeToLive: UpdateTimeToLiveCommand,
    } satisfies Record<keyof Calls, unknown>
  } catch (cause) {
    throw new OncekeyError('INVALID_OPTION', {
      what: '@aws-sdk/client-dynamodb cannot be imported.',
      where: 'dynamodb',
      why: "The store sends the SDK's own commands through your client.",
      fix: 'npm install @aws-sdk/client-dynamodb',
      cause,
    })
  }
}
