import type { ComponentType } from 'preact'
import type { Route } from '../lib/route.ts'

/** A view gets what its path says. */
export type View<Of extends Route['view'] = Route['view']> = ComponentType<{ route: Extract<Route, { view: Of }> }>
