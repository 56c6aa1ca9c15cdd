/** The table of the example, as TypeORM knows it. */
import { EntitySchema } from 'typeorm'

export interface Account {
  id?: number
  owner: string
}

export const account = new EntitySchema<Account>({
  name: 'account',
  columns: {
    id: { type: 'int', primary: true, generated: true },
    owner: { type: 'text', unique: true },
  },
})
