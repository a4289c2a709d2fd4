import { Router } from 'express'
import { headersOf } from './headers.ts'

/** A document that is the same for everybody, and shown to anybody, closed or not, as the page of the operations is. */
export interface StaticFile {
  /** Where it is: `/schemas/common.json`. */
  path: string
  /** Its media type, with the charset of a text. */
  type: string
  /** The text, or the text for a path prefix at a proxy (empty for none), where it has paths of the service. */
  content: string | ((prefix: string) => string)
  /** Of a page: where it may load from, besides its own files (directives of its content security policy). */
  sources?: Record<string, string[]>
}

/** Answers GET and HEAD with these. Programs of other sites may read them: they hold nothing of anybody. */
export function staticFiles(files: readonly StaticFile[]): Router {
  const router = Router()
  for (const { path, type, content, sources = {} } of files) {
    const directives = { defaultSrc: ["'none'"], baseUri: ["'none'"], frameAncestors: ["'none'"], ...sources }
    const headers = headersOf({ directives })
    headers.set('cache-control', 'no-cache').set('access-control-allow-origin', '*').set('content-type', type)
    // Not the default, which keeps what it says from pages elsewhere.
    headers.set('cross-origin-resource-policy', 'cross-origin')
    router.get(path, ({ baseUrl, path: asked }, response) => {
      // Links of a page are relative to its path, which has no slash at its end.
      if (asked.endsWith('/')) return response.redirect(`../${path.slice(path.lastIndexOf('/') + 1)}`)
      response.setHeaders(headers).end(typeof content === 'string' ? content : content(baseUrl))
    })
  }
  return router
}
