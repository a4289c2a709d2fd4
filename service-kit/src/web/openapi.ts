/** What the pages of all services share: paging parameters and the shape of a problem. */
export const sharedComponents = {
  parameters: {
    Limit: { name: 'limit', in: 'query', schema: { type: 'integer', minimum: 1, maximum: 100, default: 20 } },
    Cursor: { name: 'cursor', in: 'query', description: 'The `next` of the page before.', schema: { type: 'string' } },
  },
  schemas: {
    Problem: {
      type: 'object',
      description: 'RFC 9457 problem details.',
      example: {
        type: 'urn:orderflow:problem:invalid-request',
        title: 'The request is not valid',
        status: 400,
        detail: '/total: is missing',
        instance: '/v1/orders',
        errors: [{ pointer: '/total', detail: 'is missing' }],
      },
      properties: {
        type: { type: 'string' },
        title: { type: 'string' },
        status: { type: 'integer' },
        detail: { type: 'string', description: 'What is wrong, and how to mend it.' },
        instance: { type: 'string' },
        orderId: { type: 'string', format: 'uuid', description: 'The order in question, if there is one.' },
        paymentId: { type: 'string', format: 'uuid', description: 'The payment in question, if there is one.' },
        errors: {
          type: 'array',
          items: {
            type: 'object',
            properties: {
              pointer: { type: 'string', description: 'JSON pointer into the body, or the name of a parameter.' },
              detail: { type: 'string' },
            },
          },
        },
      },
    },
  },
  responses: {
    Problem: {
      description: 'What is wrong, and how to mend it.',
      content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
    },
  },
}
