import { gatewayIn } from '@orderflow/event-gateway/service'

export const service = gatewayIn(new URL('..', import.meta.url))
