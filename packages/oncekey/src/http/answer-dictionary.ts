/** The header lines and names that kept answers write as one byte. Append only: a place never changes its meaning. */

/** Whole lines, at most 63. */
export const LINES: readonly string[] = [
  'content-type: application/json',
  'content-type: application/json; charset=utf-8',
  'content-type: application/json;charset=utf-8',
  'content-type: application/json; charset=UTF-8',
  'content-type: application/json;charset=UTF-8',
  'content-type: application/problem+json',
  'content-type: application/problem+json; charset=utf-8',
  'content-type: application/vnd.api+json',
  'content-type: application/hal+json',
  'content-type: application/octet-stream',
  'content-type: application/pdf',
  'content-type: application/xml',
  'content-type: text/plain',
  'content-type: text/plain; charset=utf-8',
  'content-type: text/plain;charset=UTF-8',
  'content-type: text/plain; charset=UTF-8',
  'content-type: text/html',
  'content-type: text/html; charset=utf-8',
  'content-type: text/html;charset=UTF-8',
  'content-type: text/html; charset=UTF-8',
  'content-language: en',
  'cache-control: no-store',
  'cache-control: no-cache',
  'cache-control: private, no-store',
]

/** Names, at most 192. */
export const NAMES: readonly string[] = [
  'content-type',
  'content-language',
  'content-disposition',
  'content-location',
  'location',
  'etag',
  'last-modified',
  'link',
  'allow',
  'cache-control',
  'content-encoding',
]
