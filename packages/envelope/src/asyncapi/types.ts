/** The part of AsyncAPI 3.0 that these documents use. */
export interface AsyncApiDocument {
  asyncapi: string
  info: { title: string; version: string; description: string }
  servers: Record<string, { host: string; protocol: string; description: string }>
  channels: Record<string, AsyncApiChannel>
  operations: Record<string, AsyncApiOperation>
  components: {
    messages: Record<string, AsyncApiMessage>
    schemas: Record<string, JsonSchema>
    [other: string]: unknown
  }
}

export interface Reference {
  $ref: string
}

export interface AsyncApiChannel {
  address: string
  title: string
  description: string
  messages: Record<string, Reference>
  servers: Reference[]
  bindings: object
}

export interface AsyncApiOperation {
  action: 'send' | 'receive'
  channel: Reference
  title: string
  messages: Reference[]
}

export interface AsyncApiMessage {
  name: string
  title: string
  summary: string
  headers: Reference
  payload: JsonSchema
  examples?: { name: string; summary: string; payload: Record<string, unknown> }[]
}

/** A JSON Schema of draft 7, the default of AsyncAPI 3.0. */
export interface JsonSchema {
  title?: string
  description?: string
  type?: string
  required?: string[]
  properties?: Record<string, JsonSchema>
  allOf?: JsonSchema[]
  $ref?: string
  [keyword: string]: unknown
}

export const nameIn = ({ $ref }: Reference): string => $ref.split('/').at(-1) ?? ''
