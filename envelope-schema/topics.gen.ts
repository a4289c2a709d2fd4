// Generated from services.json by make generate. Do not edit.

/** Topic of OrderCreated, OrderCancelled, OrderReminded, OrderExpired. */
export const orderEvents = 'orderevents'

/** Topic of PaymentApproved, PaymentRejected, PaymentRefunded, PaymentPending, PaymentAuthorised. */
export const paymentEvents = 'paymentevents'

/** Topic of DeadlinePassed. */
export const deadlines = 'deadlines'

/** Topic of CallAnswered. */
export const calls = 'calls'
