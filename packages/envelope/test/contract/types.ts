// The payloads of this contract, as make generate would write them.

export type OrderCancelledV1 = {
  OrderId: string
}

export type OrderCreatedV1 = {
  OrderId: string
  CustomerName: string
  CustomerTaxId: string
  Total: number
}

export type PaymentApprovedV1 = {
  PaymentId: string
  OrderId: string
  Amount: number
  Policy: string
  Source: 'OrderCreated' | 'Manual'
}

declare module '@orderflow/envelope' {
  interface EventPayloads {
    'OrderCancelled@1': OrderCancelledV1
    'OrderCreated@1': OrderCreatedV1
    'PaymentApproved@1': PaymentApprovedV1
  }

  interface NewestTypes {
    OrderCancelled: 'OrderCancelled@1'
    OrderCreated: 'OrderCreated@1'
    PaymentApproved: 'PaymentApproved@1'
  }
}
