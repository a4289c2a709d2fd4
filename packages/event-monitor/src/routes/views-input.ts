import { HttpProblem, type Input, invalid } from '@orderflow/service-kit'
import type { EventFilter } from '../api/events.ts'
import { filterInput, readFilter } from './requests.ts'

type Query = Record<string, unknown>

const maxViews = 50
const names = new Set(filterInput.parameters?.map(({ name }) => name))

/** Reads the filters of a stream: one for each parameter `view`, or the filter in the other parameters. */
export const viewsInput: Input<EventFilter[]> = {
  read({ query }) {
    const { view, ...filter } = query as Query
    if (view === undefined) return [readFilter(filter)]
    const texts: unknown[] = Array.isArray(view) ? view : [view]
    if (Object.keys(filter).length > 0) throw invalid([{ pointer: 'view', detail: 'excludes all other parameters' }])
    if (texts.length > maxViews) throw invalid([{ pointer: 'view', detail: `may be given ${maxViews} times` }])
    const read = texts.map((text, index) => filterIn(String(text), index))
    const errors = read.flatMap((one) => ('errors' in one ? one.errors : []))
    if (errors.length > 0) throw invalid(errors)
    return read.flatMap((one) => ('filter' in one ? [one.filter] : []))
  },
  parameters: [
    ...(filterInput.parameters ?? []),
    {
      name: 'view',
      in: 'query',
      description: 'A filter as a query string, such as `validity=valid`. Repeat the parameter for several filters.',
      schema: { type: 'array', items: { type: 'string' } },
    },
  ],
  problems: [400],
}

type Read = { filter: EventFilter } | { errors: { pointer: string; detail: string }[] }

/** Reads one filter. The pointers of its errors begin with `view/` and its index. */
function filterIn(text: string, index: number): Read {
  const query: Query = {}
  for (const [name, value] of new URLSearchParams(text)) query[name] = [...((query[name] as string[]) ?? []), value]
  const at = (pointer: string) => `view/${index}/${pointer}`
  const unknown = Object.keys(query).some((name) => !names.has(name))
  // The name is not repeated, because it is a part of a value, which may contain personal data.
  if (unknown)
    return { errors: [{ pointer: `view/${index}`, detail: `has another name than ${[...names].join(', ')}` }] }
  try {
    return { filter: readFilter(query) }
  } catch (error) {
    const { errors } = error instanceof HttpProblem ? error.options : {}
    if (!errors) throw error
    return { errors: errors.map(({ pointer, detail }) => ({ pointer: at(pointer), detail })) }
  }
}
