// Many operations by a few callers, as fast as they go.
export async function filled(once: (at: number) => Promise<unknown>, count: number, callers: number): Promise<void> {
  let next = 0
  await Promise.all(
    Array.from({ length: callers }, async () => {
      while (next < count) await once(next++)
    }),
  )
}
