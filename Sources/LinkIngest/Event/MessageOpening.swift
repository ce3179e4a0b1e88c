internal import ByteStorage
internal import LinkCoordinator

/// The opening of a message for a class of devices, with the notes about it.
///
/// It is valid until the next record is read.
package struct MessageOpening: BitwiseCopyable {
    let reading: MessageReader.Reading
}

extension EventReader {
    /// The opening of the message for the class of the selected device.
    ///
    /// `openLink` changes it. Setting an earlier value withdraws the change, for a second route table.
    package var opening: MessageOpening {
        mutating get { messages.opening(devicePointer.pointee.facts.platform) }
        set {
            messages.setOpening(
                newValue, devicePointer.pointee.facts.platform, into: &eventPointer.pointee.request)
        }
    }
}

extension MessageReader {
    fileprivate mutating func opening(_ devicePlatform: ByteView) -> MessageOpening {
        MessageOpening(reading: readings[Int(PlatformClass(devicePlatform).rawValue)])
    }

    fileprivate mutating func setOpening(
        _ opening: MessageOpening, _ devicePlatform: ByteView, into request: inout RequestView
    ) {
        readings[Int(PlatformClass(devicePlatform).rawValue)] = opening.reading
        request.tapped = opening.reading.tapped
        request.earlyNotes = opening.reading.earlyNotes
        request.notes = notes.range(opening.reading.firstNote, count: opening.reading.noteCount)
    }
}
