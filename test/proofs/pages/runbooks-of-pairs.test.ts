import { followRunbooks } from './runbooks.ts'

followRunbooks('pair')
