import type { SpanPlace } from './trace.ts'

/** Ids, names, numbers and outcomes: what a span tells. Nothing that a person may have written. */
export type Attributes = Record<string, string | number | boolean | undefined>

export type SpanKind = 'server' | 'client' | 'producer' | 'consumer' | 'internal'

export interface SpanOptions {
  kind: SpanKind
  attributes?: Attributes
  /** Others that the work is for, or that it comes from, besides its parent. */
  links?: readonly SpanPlace[]
}

/** A piece of work that is recorded. It is told to the collector once it has ended. */
export interface Span {
  readonly place: SpanPlace
  /** Begins a piece of this work. */
  child(name: string, options: SpanOptions): Span
  rename(name: string): void
  set(attributes: Attributes): void
  link(place: SpanPlace): void
  /** @param error a code of why it failed, never a message; undefined when it did not */
  end(error?: string): void
}

/** Records what a service does (https://opentelemetry.io/docs/specs/otel/trace/). There is none in a service that has no collector. */
export interface Tracing {
  /**
   * Whether a trace is recorded: as `parent` says where the sampler asks it, else by the trace's id. So all services decide alike.
   * @param traceId 32 hex digits
   */
  isSampled(traceId: string, parent: SpanPlace | undefined): boolean
  /** Begins a span below `parent` or, where that is undefined, the first one of a trace. Only for what is sampled. */
  begin(name: string, traceId: string, parent: SpanPlace | undefined, options: SpanOptions): Span
  /** Sends what is not sent yet, and sends no more. */
  stop(): Promise<void>
}
