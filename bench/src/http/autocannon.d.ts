// What is used of autocannon, which brings no types.
declare module 'autocannon' {
  interface Options {
    readonly url: string
    readonly connections: number
    /** Seconds. */
    readonly duration: number
    readonly requests: readonly {
      readonly method: string
      readonly path: string
      readonly body: string
      setupRequest(request: { readonly headers: Readonly<Record<string, string>> }): object
    }[]
  }
  interface Result {
    readonly '2xx': number
    readonly non2xx: number
    readonly errors: number
    /** Seconds. */
    readonly duration: number
    readonly latency: { readonly p50: number; readonly p99: number }
  }
  function autocannon(options: Options): Promise<Result>
  export = autocannon
}
