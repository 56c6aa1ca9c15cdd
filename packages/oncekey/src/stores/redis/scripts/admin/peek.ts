/** The head of a record, without its answer: enough to count it and to know when it ends. */

export const peek = `
return { 's', text(us), redis.call('GETRANGE', KEYS[1], 0, 57) }
`
