/** The page of the staff: a button copies the link of an invitation or of a new password. */

import { watchCopies } from "../shared/copy.js";

watchCopies(document);
