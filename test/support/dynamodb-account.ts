// What a DynamoDB of one's own wants to be told, so that nobody's real account is ever asked.
export const LOCAL = { region: 'local', credentials: { accessKeyId: 'test', secretAccessKey: 'test' } } as const
