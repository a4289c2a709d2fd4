export * from './payment.ts'
export * from './payment-error.ts'
export * from './policy.ts'
