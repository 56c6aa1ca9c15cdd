/** What stands there; a script and not GET, since a client may send that to a replica. */

export const read = `
return standing(look())
`
