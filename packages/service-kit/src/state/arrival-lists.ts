import { type ArrivalList, createArrivalList, type ListDraft } from './arrival-list.ts'
import { readIn } from './space.ts'

/** What one batch adds to the lists of its spaces. */
export interface ListsDraft extends Pick<ListDraft, 'writes' | 'stored'> {
  /** As `ListDraft.append`, to the list of a space. */
  append(space: string, id: string): string
}

/** The lists that a batch may add to, as one. */
export interface BatchLists extends Pick<ArrivalList, 'watched' | 'open' | 'leave'> {
  draft(): ListsDraft
}

/** A process's ends of the service's lists, one for each tenant. Answers those of these spaces. */
export type ArrivalLists = (spaces: readonly string[]) => BatchLists

/** Who comes back after as many others begins a chunk. More than a batch has works. */
const maxOpen = 1_000

export function createArrivalLists(now: () => Date): ArrivalLists {
  /** Least recently used first. */
  const lists = new Map<string, ArrivalList>()

  function listOf(space: string): ArrivalList {
    const list = lists.get(space) ?? listIn(space, createArrivalList(now))
    lists.delete(space)
    lists.set(space, list)
    for (const oldest of lists.keys()) if (lists.size > maxOpen) lists.delete(oldest)
    return list
  }
  return (spaces) => together(new Map(spaces.map((space) => [space, listOf(space)])))
}

function together(lists: Map<string, ArrivalList>): BatchLists {
  const all = [...lists.values()]
  return {
    watched() {
      const each = all.map((list) => list.watched())
      return {
        keys: each.flatMap(({ keys }) => keys),
        check: (read) => {
          for (const { check } of each) check(read)
        },
      }
    },
    open: async (read) => {
      await Promise.all(all.map((list) => list.open(read)))
    },
    draft() {
      const drafts = new Map(Array.from(lists, ([space, list]) => [space, list.draft()]))
      return {
        append: (space, id) => (drafts.get(space) as ListDraft).append(id),
        writes: () => [...drafts.values()].flatMap((draft) => draft.writes()),
        stored: () => {
          for (const draft of drafts.values()) draft.stored()
        },
      }
    },
    leave: () => {
      for (const list of all) list.leave()
    },
  }
}

/** A list whose documents are in a space. */
function listIn(space: string, list: ArrivalList): ArrivalList {
  if (space === '') return list
  return {
    watched() {
      const { keys, check } = list.watched()
      return {
        keys: keys.map((key) => space + key),
        check: (read) =>
          check(
            new Map(
              keys.flatMap((key) => {
                const document = read.get(space + key)
                return document ? [[key, document]] : []
              }),
            ),
          ),
      }
    },
    open: (read) => list.open(readIn(space, read)),
    draft() {
      const draft = list.draft()
      return {
        append: draft.append,
        writes: () => draft.writes().map((write) => ({ ...write, key: space + write.key })),
        stored: draft.stored,
      }
    },
    leave: list.leave,
  }
}
