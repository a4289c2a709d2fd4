interface Reference {
  refType: 'CHILD_OF' | 'FOLLOWS_FROM'
  traceID: string
  spanID: string
}

interface JaegerTrace {
  spans: {
    traceID: string
    spanID: string
    operationName: string
    references: Reference[]
    tags: { key: string; value: unknown }[]
    processID: string
  }[]
  processes: Record<string, { serviceName: string }>
}

export interface JaegerSpan {
  traceId: string
  id: string
  service: string
  name: string
  parentId: string | undefined
  links: string[]
  tags: Record<string, unknown>
}

export function jaegerAt(url: string) {
  async function spansAt(path: string): Promise<JaegerSpan[]> {
    const response = await fetch(`${url}${path}`)
    if (!response.ok) return []
    const { data } = (await response.json()) as { data: JaegerTrace[] | null }
    return (data ?? []).flatMap(spansOf)
  }
  return {
    trace: (guid: string): Promise<JaegerSpan[]> => spansAt(`/api/traces/${guid.replaceAll('-', '')}`),
    async all(services: readonly string[]): Promise<JaegerSpan[]> {
      const found = await Promise.all(
        services.map((service) => spansAt(`/api/traces?service=${service}&limit=10000&lookback=24h`)),
      )
      return [...new Map(found.flat().map((span) => [span.id, span])).values()]
    },
  }
}

function spansOf({ spans, processes }: JaegerTrace): JaegerSpan[] {
  return spans.map(({ traceID, spanID, operationName, references, tags, processID }) => ({
    traceId: traceID,
    id: spanID,
    service: processes[processID]?.serviceName ?? '',
    name: operationName,
    parentId: references.find(({ refType }) => refType === 'CHILD_OF')?.spanID,
    links: references.filter(({ refType }) => refType === 'FOLLOWS_FROM').map((reference) => reference.traceID),
    tags: Object.fromEntries(tags.map(({ key, value }) => [key, value])),
  }))
}

/** Returns each span as `service: name`, after its parent: `order-service: POST /v1/orders > order-service: send orderevents`. */
export function linesOf(spans: JaegerSpan[]): string[] {
  const named = ({ service, name }: JaegerSpan) => `${service}: ${name}`
  const byId = new Map(spans.map((span) => [span.id, named(span)]))
  return spans.map((span) => [...(span.parentId ? [byId.get(span.parentId) ?? 'nobody'] : []), named(span)].join(' > '))
}
