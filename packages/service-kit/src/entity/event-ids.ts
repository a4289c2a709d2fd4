import { deterministicId, type FullEvent, type Tenant, tenantOf } from '@orderflow/envelope'
import { type AnyDefinition, revisionIn, withTenant } from './document.ts'
import { causeIn } from './facts.ts'

/** Returns functions that derive the Id of an own event from its entity and its cause. So each process gives the same event the same Id. */
export function eventIdsOf<S, V>({ facts, hasGlobalIds }: AnyDefinition<S, V>) {
  /** Returns what distinguishes own events of the same name. With facts, such an event occurs once. */
  const occurrence = (cause = '', revision = 0): string[] => (facts ? [] : [cause, String(revision)])

  function eventId(id: string, event: string, tenant: Pick<Tenant, 'id'>, distinction: string[]): string {
    const parts = [id, event, ...distinction]
    // biome-ignore lint/plugin/no-spread-arguments: an id has at most five parts
    return deterministicId('event', ...(hasGlobalIds && facts ? parts : withTenant(tenant, parts)))
  }

  /** Returns true if the entity announced the event. Other applications could use its name and AppId. */
  function isAnnouncedBy(appId: string, id: string, event: FullEvent): boolean {
    const [cause, revision] = [causeIn(event), revisionIn(event)]
    if (event.AppId !== appId || (!facts && (cause === undefined || revision === undefined))) return false
    return event.Id === eventId(id, event.Name, tenantOf(event), occurrence(cause, revision))
  }

  return { occurrence, eventId, isAnnouncedBy }
}
