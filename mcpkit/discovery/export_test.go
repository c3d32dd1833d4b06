package discovery

// PageText cuts one page of text.
var PageText = pageText

// Cost is what a value takes on the wire in the worst case.
var Cost = cost
