// The drawing of an answer of "Try a link", which is loaded with the first question.

export { drawPhones } from "./phones.js";
export { drawDeadLetter, drawDevices, drawJSON, drawMended, drawSentence, drawSource, drawSuggestions, drawTables,
  letterSegments, sentenceText } from "./try-answer.js";
export { followTies, showLink, tieScreens, tiesOf } from "./try-link.js";
export { drawCode } from "./try-qr.js";
export { drawMatrix } from "./try-matrix.js";
export { drawPhases } from "./try-phases.js";
