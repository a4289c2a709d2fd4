import { invalid, pathId, queryId, type Route } from '@orderflow/service-kit'
import type { Conversation, ConversationsOf } from '../api/conversation.ts'
import type { ServiceRole } from '../model/conversation.ts'
import type { Monitor } from '../monitor.ts'
import { answer } from './answer.ts'
import { notKept } from './events.ts'

export function conversationRoutes({ index, services, see }: Monitor): Route[] {
  /** With how far each group is. */
  const rolesNow = async (): Promise<ServiceRole[]> => {
    const { groups } = await see()
    return services.map(({ name, consumes }) => {
      const own = groups.filter(({ group }) => group === name)
      const positions = new Map(own.map(({ topic, partition, position }) => [`${topic}/${partition}`, position]))
      return { name, consumes, positions }
    })
  }
  return [
    answer({
      path: '/v1/conversations/{correlationId}',
      summary: 'Get a conversation',
      input: { id: pathId('correlationId') },
      refusals: ['not-kept'],
      async handle({ id }): Promise<Conversation> {
        const found = await index.ask('conversation', id, await rolesNow())
        if (found.steps.length > 0) return { ...found, complete: index.truth() }
        throw notKept(`conversation ${id}`)
      },
    }),
    answer({
      path: '/v1/conversations',
      summary: 'Find conversations by any Id',
      input: { guid: queryId('guid') },
      async handle({ guid }): Promise<ConversationsOf> {
        if (guid === undefined) throw invalid([{ pointer: 'guid', detail: 'is missing' }])
        return { items: await index.ask('conversationsOf', guid), complete: index.truth() }
      },
    }),
  ]
}
