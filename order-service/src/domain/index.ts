export * from './order.ts'
export * from './order-error.ts'
