/** The answer that is kept of a throw, where no framework has made one of it. */
import type { Answer } from './answer.ts'

/**
 * The status that the error carries (`status`, `statusCode`; http-errors, Hono, Nest and Fastify set one of them), else
 * 500, as a problem document of that status and nothing more: an error's text is not the caller's to see. An adapter
 * that knows what its framework sends gives `fromError` instead.
 */
export function answerFromError(error: unknown): Answer {
  const status = statusOf(error)
  const document = { type: 'about:blank', title: status < 500 ? 'Request failed' : 'Internal Server Error', status }
  return {
    status,
    headers: [['content-type', 'application/problem+json']],
    body: new TextEncoder().encode(JSON.stringify(document)),
  }
}

function statusOf(error: unknown): number {
  const { status, statusCode } = Object(error) as { readonly status?: unknown; readonly statusCode?: unknown }
  const stated = [status, statusCode].find(
    (value) => Number.isInteger(value) && Number(value) >= 400 && Number(value) <= 599,
  )
  return stated === undefined ? 500 : Number(stated)
}
