import { monitorIn } from '@orderflow/event-monitor/service'

export const service = monitorIn(new URL('..', import.meta.url))
